"""The forms in which collectors of Windows are told what to record, one module each."""
