"""The commands of `autohold`, a module each; heavy imports wait until a command runs."""
