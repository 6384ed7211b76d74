"""Advice for places: grids and lines on which nearness counts, and the promise that goes with it."""
