"""Hold'em: hand ranks, hand strength and potential, starting hands, and how many pure strategies a round has."""
