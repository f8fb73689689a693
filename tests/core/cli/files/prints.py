import scale

kernel = scale.scale
print("hello from the file")
