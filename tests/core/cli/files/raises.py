def table(width):
    return {32: "narrow", 64: "wide"}[width]


TABLE = table(48)
