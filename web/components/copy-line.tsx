import { copy } from "./curl-button.tsx";
import { Icon } from "./icons.tsx";

/** An address or a snippet, with the button that copies it. */
export function CopyLine({ label, text, href }: { label: string; text: string; href?: string }) {
  return (
    <div className="copy-line">
      <span className="copy-label">{label}</span>
      {href === undefined ? (
        <code>{text}</code>
      ) : (
        <a href={href} target="_blank" rel="noreferrer">
          <code>{text}</code>
        </a>
      )}
      <button
        type="button"
        className="dots"
        aria-label={`Copy: ${label}`}
        title="Copy"
        onClick={() => void copy(text, label)}
      >
        <Icon name="copy" size={15} />
      </button>
    </div>
  );
}
