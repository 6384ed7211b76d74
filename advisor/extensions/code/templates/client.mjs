// Client: randomises one answer on the user's device.
// {{ collection }}.
{{ rests_on }}// The promise, and what it does not cover, is in README.md. No dependency; all randomness is from
// crypto.getRandomValues: browsers, and Node from version 20. The same draws as client.py.
// Written by ldp-advise.

const K = {{ collection.k }}; // possible answers
// {% if collection.labels %}
const LABELS = {{ collection.answers }};
// {% endif %}
{{ constants }}

// Return the line to send for an answer: the only thing that may leave the device.
// entropy: returns so many random bytes. Leave it out: other sources are for tests alone.
export function report(answer, entropy = secure) {
  return line(randomised(numberOf(answer), entropy));
}

// Return the number of an answer; an error for what is no answer.
export function numberOf(answer) {
  // {% if collection.labels %}
  const number = LABELS.indexOf(answer);
  if (number < 0) throw new RangeError(`an answer is one of the ${K} labels`);
  return number;
  // {% elif collection.cells.centre %}
  return cellOf(...answer);
  // {% else %}
  if (!Number.isInteger(answer) || answer < 0 || answer >= K) {
    throw new RangeError(`an answer is a whole number from 0 to ${K - 1}`);
  }
  return answer;
  // {% endif %}
}

// {% include "draws.mjs" %}

// {% block own %}
// {% endblock %}
