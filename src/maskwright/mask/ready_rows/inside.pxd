cpdef enum:
    TOO_MUCH = 32767
