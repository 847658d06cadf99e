"""TFLite files with real weights: imported, computed on the emulator, and compared with LiteRT's reference kernels (docs/tflite.md)."""
