"""PTX: tables of instructions (`tables/`), and what reads them.

From what imports nothing up: `types`, `condition`, `target_sets`, `syntax` (text of tables to records), `forms` (rows and tokens to exact
forms), `operands` (checks of arguments), `chain` (`Tx.ptx`), `emit` (forms to inline assembly).
"""
