import { type CSSProperties, useEffect, useRef, useState } from "react";

type Page = { html: string; accent: string | null };

/** Shows HTML of a public page in a sandboxed frame, without scripts and forms. */
export function PublicPreview({
  html,
  accent,
  title,
  style,
}: Page & { title: string; style?: CSSProperties }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [first] = useState(html);
  useEffect(() => showInFrame(frame.current, { html, accent }), [html, accent]);
  return (
    <iframe
      ref={frame}
      className="public-preview"
      title={title}
      srcDoc={first}
      // Fonts load only from the same origin. Links open in new tabs, outside the sandbox.
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      onLoad={() => showInFrame(frame.current, { html, accent })}
      {...(style && { style })}
    />
  );
}

/** Replaces the body of the loaded page: reloading would flicker and lose the scroll position. */
function showInFrame(frame: HTMLIFrameElement | null, { html, accent }: Page) {
  const frameDocument = frame?.contentDocument;
  if (!frameDocument || frameDocument.querySelector("main") === null) return;
  const next = new DOMParser().parseFromString(html, "text/html");
  const scheme = 'meta[name="color-scheme"]';
  frameDocument
    .querySelector(scheme)
    ?.setAttribute("content", next.querySelector(scheme)?.getAttribute("content") ?? "");
  const root = frameDocument.documentElement;
  root.dataset["theme"] = next.documentElement.dataset["theme"] ?? "auto";
  if (accent === null) root.style.removeProperty("--accent");
  else root.style.setProperty("--accent", accent);
  frameDocument.body.replaceWith(frameDocument.importNode(next.body, true));
}
