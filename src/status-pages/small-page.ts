import { html } from "./parts.ts";

/** A page of few words, such as a question; `content` is HTML. */
export function smallPage(title: string, content: string, status: number) {
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${Bun.escapeHTML(title)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/status-files/status.css"></head><body><div class="wrap"><main>${content}</main></div></body></html>`;
  return { ...html(body, status), body };
}

/** The same as an answer that nobody keeps. */
export function smallAnswer(title: string, content: string, status: number): Response {
  const { body, type, headers } = smallPage(title, content, status);
  return new Response(body, {
    status,
    headers: { "Content-Type": type, "Cache-Control": "no-store", ...headers },
  });
}

/** A question that a button answers, by a POST to where it was asked. */
export function question(heading: string, text: string, button: string): Response {
  const said = [heading, text, button].map((one) => Bun.escapeHTML(one));
  return smallAnswer(
    heading,
    `<form class="lock" method="post"><h1>${said[0]}</h1><p>${said[1]}</p><button>${said[2]}</button></form>`,
    200,
  );
}

/** What became of it. */
export function statement(heading: string, text: string, status = 200): Response {
  const said = [heading, text].map((one) => Bun.escapeHTML(one));
  return smallAnswer(
    heading,
    `<div class="lock"><h1>${said[0]}</h1><p>${said[1]}</p></div>`,
    status,
  );
}
