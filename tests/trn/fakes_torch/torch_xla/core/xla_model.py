"""The XLA device."""


def xla_device():
    return "xla:0"
