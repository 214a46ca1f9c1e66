"""What the degrees of serving engines are worth: their optima beside uniform ones."""
