// Problems of the page that the browser shows, in the given colour schemes, as a list of texts.
(schemes) => {
  const article = document.querySelector("article");
  const problems = [];

  // The page must not scroll sideways.
  const overhang = document.documentElement.scrollWidth - window.innerWidth;
  if (overhang > 0) problems.push(`the page is ${overhang} pixels too wide`);

  // No code is cut at its right edge, also on a phone.
  for (const each of article.querySelectorAll("pre > code"))
    if (each.clientWidth && each.scrollWidth > each.clientWidth + 1)
      problems.push(`code is cut: ${each.textContent}`);

  // All columns of a table are seen, also on a phone. Records and notebooks may scroll.
  if (!/\/(records|reports|notebooks)\//.test(location.pathname))
    for (const each of article.querySelectorAll(".md-typeset__scrollwrap"))
      if (each.scrollWidth > each.clientWidth)
        problems.push(`table is cut: ${each.textContent.trim().slice(0, 40)}`);

  // Formulas are drawn: limits are above and below their sum, and fractions have two lines.
  const box = (element) => element.getBoundingClientRect();
  for (const formula of article.querySelectorAll("math")) {
    if (!box(formula).height || formula.querySelector("merror"))
      problems.push(`formula is not drawn: ${formula.textContent}`);
    for (const sum of formula.querySelectorAll("munderover, mfrac")) {
      const [first, second, third] = [...sum.children].map(box);
      const stacked = first.bottom <= second.top + 1 && !(third && third.bottom > first.top + 1);
      if (formula.getAttribute("display") === "block" && !stacked)
        problems.push(`formula is drawn in one line: ${formula.textContent}`);
    }
  }

  // Text has a contrast of at least 4.5 to its background, large text of 3.
  const numbers = (color) => color.match(/[\d.]+/g).map(Number);
  const over = (top, bottom) => {
    const alpha = top.length > 3 ? top[3] : 1;
    return [0, 1, 2].map((i) => alpha * top[i] + (1 - alpha) * bottom[i]);
  };
  const luminance = (color) => {
    const parts = color.map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const texts = [...article.querySelectorAll("*")].filter(
    (element) =>
      !element.matches(".headerlink, svg, svg *, .md-code__button") &&
      [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) &&
      element.getClientRects().length,
  );
  for (const scheme of schemes) {
    document.body.setAttribute("data-md-color-scheme", scheme);
    const backgrounds = new Map([[null, [255, 255, 255]]]);
    const background = (element) => {
      if (!backgrounds.has(element)) {
        const layer = numbers(getComputedStyle(element).backgroundColor);
        backgrounds.set(element, over(layer, background(element.parentElement)));
      }
      return backgrounds.get(element);
    };
    const seen = new Set();
    for (const element of texts) {
      const style = getComputedStyle(element);
      const behind = background(element);
      const [light, dark] = [luminance(over(numbers(style.color), behind)), luminance(behind)]
        .sort((a, b) => b - a);
      const ratio = (light + 0.05) / (dark + 0.05);
      const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 700);
      const name = `${element.tagName.toLowerCase()}.${element.className} ${style.color}`;
      if (ratio < (large ? 3 : 4.5) && !seen.has(name)) {
        seen.add(name);
        problems.push(`contrast ${ratio.toFixed(2)}, ${scheme}: ${name}: ${element.textContent.trim().slice(0, 30)}`);
      }
    }
  }
  return problems;
}
