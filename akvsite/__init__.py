"""akvsite: captures of LLM decode engines, numbers with their uncertainty, and a site to review them."""

__version__ = "0.1.0"
