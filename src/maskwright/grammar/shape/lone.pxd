from maskwright.grammar.schema.document_text cimport SchemaText

cdef frozenset alone(SchemaText schema)
