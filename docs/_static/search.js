// A result of the site's search leads to the heading that has most of the words, rare ones first, and such results come
// first. Where no page has all words, those with some are listed; the search of Sphinx would list nothing.
const HEADING = 10; // what a heading with all words adds to a score; a page with a word scores 5, with one in a title 15
const ENOUGH = 0.3; // of the words, by weight: a heading with less is not what was meant

// A word weighs one over the number of pages that have it, and nothing if none has.
const weigh = (words) => {
  const { terms, titleterms } = Search._index;
  const pages = (word) => new Set([terms[word] ?? [], titleterms[word] ?? []].flat()).size;
  return new Map([...words].map((word) => [word, pages(word) ? 1 / pages(word) : 0]));
};

const toHeadings = (words, results) => {
  const { alltitles, docnames } = Search._index;
  const [stemmer, best, weights] = [new Stemmer(), new Map(), weigh(words)];
  const weightOf = (some) => some.reduce((sum, word) => sum + weights.get(word), 0);
  const total = weightOf([...words]) || 1;
  for (const [title, places] of Object.entries(alltitles)) {
    const stems = new Set(splitQuery(title.toLowerCase()).map((word) => stemmer.stemWord(word)));
    const share = weightOf([...words].filter((word) => stems.has(word))) / total;
    for (const [file, id] of places) {
      const least = best.get(docnames[file])?.share ?? 0;
      // Of equals the title of the page, which has no id.
      if (share > least || (share === least && share > 0 && id === null)) best.set(docnames[file], { share, title, id });
    }
  }
  for (const result of results) {
    const heading = best.get(result[0]);
    if (!heading || heading.share < ENOUGH) continue;
    result[4] += HEADING * heading.share;
    if (heading.id !== null) {
      result[1] += ` > ${heading.title}`;
      result[2] = `#${heading.id}`;
    }
  }
  return results;
};

const withSome = (words, excluded, withAll) => {
  const best = new Map();
  for (const word of words) {
    const pages = withAll(new Set([word]), excluded);
    for (const page of pages) {
      const points = page[4] / pages.length;
      if (!best.has(page[0])) best.set(page[0], Object.assign(page, { 4: 0 }));
      best.get(page[0])[4] += points;
    }
  }
  return [...best.values()];
};

const searchHeadings = () => {
  const withAll = Search.performTermsSearch;
  Search.performTermsSearch = (words, excluded) => {
    const results = withAll(words, excluded);
    return toHeadings(words, results.length ? results : withSome(words, excluded, withAll));
  };
};
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search !== "undefined") searchHeadings(); // else a page without a search
});
