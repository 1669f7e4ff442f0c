"""Loads the runtime with ctypes: loaded.py NAME."""

import ctypes
import sys

hip = ctypes.CDLL(sys.argv[1])
pointer = ctypes.c_void_p()
status = hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(64))
status |= hip.hipFree(pointer)
print("ctypes", status)
sys.exit(1 if status else 7)
