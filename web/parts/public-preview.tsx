/** A public page that the server made, in a frame where it can neither run scripts nor send forms. */
export function PublicPreview({
  html,
  accent,
  title,
}: {
  html: string;
  accent: string | null;
  title: string;
}) {
  return (
    <iframe
      className="public-preview"
      title={title}
      srcDoc={html}
      // The same origin is needed for its typeface.
      sandbox="allow-same-origin"
      onLoad={({ currentTarget }) => {
        if (accent !== null)
          currentTarget.contentDocument?.documentElement.style.setProperty("--accent", accent);
      }}
    />
  );
}
