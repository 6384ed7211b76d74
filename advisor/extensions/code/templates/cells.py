# {% if example %}
"""Cells of a map: numbered row by row, the northernmost first, and where they are."""

K, ROWS, COLUMNS = 4, 2, 2
NORTH, WEST, HEIGHT, WIDTH = 1.0, -1.0, 1.0, 1.0


# {% endif %}
def moved(cell, down, across):
    """Return the cell so many rows and columns further; off the grid, the nearest cell of it."""
    row, column = cell // COLUMNS + down, cell % COLUMNS + across
    return min(max(row, 0), ROWS - 1) * COLUMNS + min(max(column, 0), COLUMNS - 1)


# {% if collection.cells.centre %}
def cell_of(latitude, longitude):
    """Return the cell of a place in degrees; off the grid, the nearest cell of it."""
    if not (abs(latitude) <= 90 and abs(longitude) <= 180):
        raise ValueError("an answer is latitude and longitude in degrees")
    return moved(0, int((NORTH - latitude) // HEIGHT), int((longitude - WEST) // WIDTH))


def degrees_of(cell):
    """Return latitude and longitude of the middle of a cell."""
    row, column = divmod(cell, COLUMNS)
    return NORTH - (row + 0.5) * HEIGHT, WEST + (column + 0.5) * WIDTH


# {% endif %}
def line(cell):
    """Return a report as a line of text: the number of a cell."""
    return str(cell)
