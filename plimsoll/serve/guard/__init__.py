"""Who may reach `plimsoll up`, and who asks. See docs/security.md."""
