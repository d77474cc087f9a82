"""What `setup.py` says of a module to its compiler."""

cdef extern from *:
    """
    /* Kept in the module, so that setup.py finds it there. */
    __attribute__((used)) static const char maskwright_built[] = MASKWRIGHT_BUILT;
    """
    # A digest of the sources of a module and their paths, for `maskwright.native`.
    const char *BUILT_FROM "MASKWRIGHT_SOURCES"
