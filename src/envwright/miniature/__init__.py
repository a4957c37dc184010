"""How the bundled miniature policy is made: tokenizer, boards, engineering dialogues, supervised training."""
