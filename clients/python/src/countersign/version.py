"""The version of this package; the same as that of the server that it was released with."""

__version__ = "0.1.0"
