/**
 * SVG logos that try to run a script or to load a file from `origin`, in every way that SVG has.
 */
const space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
const html = 'xmlns="http://www.w3.org/1999/xhtml"';

/** Marks that a script ran: its document's address gets this fragment. */
export const ranMark = "#ran";
const run = `location.hash='${ranMark}'`;

/** Elements that run script or load `origin`; each name is requested only by its own attack. */
const buildElements = (origin: string) => [
  `<script>${run}</script>`,
  `<script href="${origin}/script.js"/>`,
  `<s:script xmlns:s="http://www.w3.org/2000/svg">${run}</s:script>`,
  `<g><animate attributeName="x" dur="1ms" onend="${run}"/></g>`,
  `<image href="data:,x" onerror="${run}"/>`,
  `<image href="${origin}/image.png"/>`,
  `<use href="${origin}/use.svg#a"/>`,
  `<filter id="f"><feImage href="${origin}/filter.png"/></filter><rect width="9" height="9" filter="url(#f)"/>`,
  `<rect width="9" height="9" fill="url(${origin}/fill.svg#a)"/>`,
  `<rect width="9" height="9" style="mask:url(${origin}/mask.svg#a)"/>`,
  `<a href="javascript:${run}"><rect width="9" height="9"/></a>`,
  `<style>@import "${origin}/import.css"; @font-face{font-family:a;src:url(${origin}/font.woff2)} text{font-family:a} rect{background:url(${origin}/background.png)}</style><text>a</text>`,
  `<foreignObject width="9" height="9"><body ${html}><img src="${origin}/img.png" onerror="${run}"/><iframe src="${origin}/frame"></iframe><object data="${origin}/object"></object><embed src="${origin}/embed"/><video src="${origin}/video" autoplay="autoplay"/><form action="${origin}/form"><button autofocus="autofocus" onfocus="${run}"/></form></body></foreignObject>`,
  `<link ${html} rel="stylesheet" href="${origin}/link.css"/>`,
  `<link ${html} rel="prefetch" href="${origin}/prefetch"/>`,
  `<meta ${html} http-equiv="refresh" content="0;url=${origin}/refresh"/>`,
  `<script ${html}>${run}</script>`,
  `<iframe ${html} srcdoc="&lt;script>parent.${run}&lt;/script>"/>`,
];

/**
 * Complete documents: one with all elements, and one for each attack that is outside the root's
 * content.
 */
export const buildHostileLogos = (origin: string): [attack: string, svg: string][] => [
  [
    "elements, attributes and styles",
    `<svg ${space} width="9" height="9" onload="${run}">${buildElements(origin).join("")}</svg>`,
  ],
  [
    "a style sheet of its own",
    `<?xml-stylesheet href="${origin}/sheet.css"?><svg ${space} width="9" height="9"/>`,
  ],
  [
    "a transformation of its own",
    `<?xml-stylesheet type="text/xsl" href="${origin}/sheet.xsl"?><svg ${space} width="9" height="9"/>`,
  ],
  [
    "a document type of its own",
    `<!DOCTYPE svg SYSTEM "${origin}/svg.dtd"><svg ${space} width="9" height="9"/>`,
  ],
];
