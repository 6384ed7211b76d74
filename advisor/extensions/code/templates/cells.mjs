// {% if example %}
// Cells of a map: numbered row by row, the northernmost first, and where they are.
const [ROWS, COLUMNS, NORTH, WEST, HEIGHT, WIDTH] = [2, 2, 1, -1, 1, 1];

// {% endif %}
// Return the cell so many rows and columns further; off the grid, the nearest cell of it.
const moved = (cell, down, across) => {
  const row = Math.floor(cell / COLUMNS) + down;
  const column = (cell % COLUMNS) + across;
  return Math.min(Math.max(row, 0), ROWS - 1) * COLUMNS + Math.min(Math.max(column, 0), COLUMNS - 1);
};

// {% if collection.cells.centre %}
// Return the cell of a place in degrees; off the grid, the nearest cell of it.
export const cellOf = (latitude, longitude) => {
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) {
    throw new RangeError("an answer is latitude and longitude in degrees");
  }
  return moved(0, Math.floor((NORTH - latitude) / HEIGHT), Math.floor((longitude - WEST) / WIDTH));
};

// Return latitude and longitude of the middle of a cell.
export const degreesOf = (cell) => [
  NORTH - (Math.floor(cell / COLUMNS) + 0.5) * HEIGHT,
  WEST + ((cell % COLUMNS) + 0.5) * WIDTH,
];

// {% endif %}
// Return a report as a line of text: the number of a cell.
const line = (cell) => String(cell);
// {% if example %}
export { line, moved };
// {% endif %}
