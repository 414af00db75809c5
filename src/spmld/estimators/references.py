"""Pickled values with references to objects that are stored elsewhere."""

import pickle  # nosec B403
from typing import Any


class ReferencePickler(pickle.Pickler):
    """Writes references in place of the objects of some type, and collects these objects.

    Examples
    --------
    >>> import io
    >>> from spmld.estimators.references import ReferencePickler, ReferenceUnpickler
    >>> file, numbers = io.BytesIO(), []
    >>> ReferencePickler(file, float, numbers).dump(["a", 1.5])
    >>> numbers, ReferenceUnpickler(io.BytesIO(file.getvalue()), [2.5]).load()
    ([1.5], ['a', 2.5])
    """

    def __init__(self, file: Any, kind: type, objects: list[Any]):
        super().__init__(file, protocol=5)
        self._kind, self._objects = kind, objects

    def persistent_id(self, value: Any) -> int | None:
        """Return the position of an object among those of its type."""
        if not isinstance(value, self._kind):
            return None
        self._objects.append(value)
        return len(self._objects) - 1


class ReferenceUnpickler(pickle.Unpickler):
    """Reads what `ReferencePickler` has written, with given objects in place of the references."""

    def __init__(self, file: Any, objects: list[Any]):
        super().__init__(file)
        self._objects = objects

    def persistent_load(self, index: int) -> Any:
        """Return the object at a position."""
        return self._objects[index]
