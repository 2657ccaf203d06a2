import { type CSSProperties, useEffect, useRef, useState } from "react";

type Page = { html: string; accent: string | null };

/** A public page that the server made, in a frame where it can neither run scripts nor send forms. */
export function PublicPreview({
  html,
  accent,
  title,
  style,
}: Page & { title: string; style?: CSSProperties }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [first] = useState(html);
  useEffect(() => show(frame.current, { html, accent }), [html, accent]);
  return (
    <iframe
      ref={frame}
      className="public-preview"
      title={title}
      srcDoc={first}
      // The same origin is needed for its typeface; its links open in tabs of their own.
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      onLoad={() => show(frame.current, { html, accent })}
      {...(style && { style })}
    />
  );
}

/** Changes what the frame shows in its place, so that nothing blinks and nobody loses where they were. */
function show(frame: HTMLIFrameElement | null, { html, accent }: Page) {
  const shown = frame?.contentDocument;
  if (!shown || shown.querySelector("main") === null) return;
  const next = new DOMParser().parseFromString(html, "text/html");
  const scheme = 'meta[name="color-scheme"]';
  shown
    .querySelector(scheme)
    ?.setAttribute("content", next.querySelector(scheme)?.getAttribute("content") ?? "");
  const root = shown.documentElement;
  root.dataset["theme"] = next.documentElement.dataset["theme"] ?? "auto";
  if (accent === null) root.style.removeProperty("--accent");
  else root.style.setProperty("--accent", accent);
  shown.body.replaceWith(shown.importNode(next.body, true));
}
