"""What the model is sent: the budget, the assembled request and the standing block."""
