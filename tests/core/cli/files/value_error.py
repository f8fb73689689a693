raise ValueError("my own mistake")
