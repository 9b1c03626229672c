"""What the makers of captures share: where captures go, and how a bundle is written."""

from __future__ import annotations

from pathlib import Path

from akvsite.record.bundle import write_declaration, write_table

__all__ = ["CAPTURES", "ROOT", "write_declaration", "write_table"]

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "captures"
