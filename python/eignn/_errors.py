"""The exceptions of eignn: each is an ordinary Python exception too.

>>> issubclass(ArgumentError, ValueError), issubclass(MissingFileError, FileNotFoundError)
(True, True)
"""


class EignnError(Exception):
    """The base of all exceptions that the library throws.

    ``problem`` says what is wrong and ``remedy`` how to mend it; the message has both.
    """

    problem: str = ""
    remedy: str = ""


class ArgumentError(EignnError, ValueError):
    """A name, number, shape, type or device that cannot be; ``field`` is the argument or setting."""

    field: str = ""


class DataError(EignnError, ValueError):
    """A file or data set that does not say what it should; ``file`` and ``place`` say where."""

    file: str = ""
    place: str = ""


class MissingFileError(DataError, FileNotFoundError):
    """A file or folder that is not there."""


class ConvergenceError(EignnError, ArithmeticError):
    """Iterations ran out, or a value left the floating range; ``residual`` is what was reached, or NaN."""

    residual: float = float("nan")


class ResourceError(EignnError, RuntimeError):
    """The machine cannot give what is needed: disk, a device, the network."""


class OutOfMemoryError(ResourceError, MemoryError):
    """There is not enough memory, on the host or on a device."""
