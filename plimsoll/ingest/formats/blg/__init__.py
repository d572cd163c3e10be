"""Binary logs of Performance Monitor (BLG), as Windows Vista and later write them."""
