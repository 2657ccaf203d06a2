import { type CSSProperties, useEffect, useRef, useState } from "react";

type Page = {
  html: string;
  style: Readonly<Record<string, string>>;
  stylesheet?: string | null;
};

/** Shows HTML of a public page in a sandboxed frame, without scripts and forms. */
export function PublicPreview({
  html,
  style,
  stylesheet = null,
  title,
  frameStyle,
}: Page & { title: string; frameStyle?: CSSProperties }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [first] = useState(html);
  useEffect(
    () => showInFrame(frame.current, { html, style, stylesheet }),
    [html, style, stylesheet],
  );
  return (
    <iframe
      ref={frame}
      className="public-preview"
      title={title}
      srcDoc={first}
      // Fonts load only from the same origin. Links open in new tabs, outside the sandbox.
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      onLoad={() => showInFrame(frame.current, { html, style, stylesheet })}
      {...(frameStyle && { style: frameStyle })}
    />
  );
}

/** Replaces the body of the loaded page: reloading would flicker and lose the scroll position. */
function showInFrame(frame: HTMLIFrameElement | null, { html, style, stylesheet }: Page) {
  const frameDocument = frame?.contentDocument;
  if (!frameDocument || frameDocument.querySelector("main") === null) return;
  const next = new DOMParser().parseFromString(html, "text/html");
  const scheme = 'meta[name="color-scheme"]';
  frameDocument
    .querySelector(scheme)
    ?.setAttribute("content", next.querySelector(scheme)?.getAttribute("content") ?? "");
  const root = frameDocument.documentElement;
  root.dataset["theme"] = next.documentElement.dataset["theme"] ?? "auto";
  root.style.cssText = "";
  for (const [name, value] of Object.entries(style)) root.style.setProperty(name, value);
  const { CSSStyleSheet: FrameStyleSheet } = frameDocument.defaultView ?? window;
  const sheet = new FrameStyleSheet();
  sheet.replaceSync(stylesheet ?? "");
  frameDocument.adoptedStyleSheets = [sheet];
  frameDocument.body.replaceWith(frameDocument.importNode(next.body, true));
}
