/** Copies to the clipboard, downloads files, and renders actions as curl commands. */
import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { buildApiPath } from "../data/client.ts";
import { Icon } from "./display/icons.tsx";
import { notifyError, notify } from "./toasts.tsx";
import { t } from "../language/text.ts";

export type Action = {
  method: string;
  route: { "~path": string };
  query?: Record<string, string>;
  body?: unknown;
};

/** Copies the action as a curl command. The API key is a shell variable, `$KEY`. */
export const copyCurl = (action: Action) => void copyText(buildCurl(action), "curl command");

function buildCurl({ method, route, query = {}, body }: Action): string {
  const search = new URLSearchParams(query).toString();
  const address = `${location.origin}${buildApiPath(route)}`;
  const lines = [
    // Quoted, because shells interpret `?` and `&`.
    `curl ${method === "GET" ? "" : `-X ${method} `}${search === "" ? address : `'${address}?${search}'`}`,
    `-H "Authorization: Bearer $KEY"`,
  ];
  if (body !== undefined)
    lines.push(
      `-H "Content-Type: application/json"`,
      `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
    );
  return lines.join(" \\\n  ");
}

export async function copyText(text: string, subject: string) {
  try {
    if (navigator.clipboard === undefined) copyOldWay(text);
    else await navigator.clipboard.writeText(text);
    notify(t("{subject} copied", { subject }));
  } catch (error) {
    notifyError(error);
  }
}

/** Copies without the clipboard API, which browsers offer only over HTTPS and on localhost. */
function copyOldWay(text: string) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error(t("The browser did not allow copying."));
}

export function CurlButton({ action }: { action: () => Action }) {
  return (
    <Button
      className="not-phone quiet"
      variant="subtle"
      title={t("Copy as curl, for a script")}
      aria-label={t("Copy as curl")}
      leftSection={<Icon name="terminal" />}
      onClick={() => copyCurl(action())}
    >
      curl
    </Button>
  );
}

/** A URL or a snippet with a button that copies it. */
export function CopyLine({ label, text, href }: { label: string; text: string; href?: string }) {
  return (
    <div className="copy-line">
      <span className="copy-label quiet">{label}</span>
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
        aria-label={t("Copy: {label}", { label })}
        title={t("Copy")}
        onClick={() => void copyText(text, label)}
      >
        <Icon name="copy" size={15} />
      </button>
    </div>
  );
}

/** Shows a new secret once, with a button that copies it. `extra` adds further actions. */
export function ShownOnce({
  title,
  label,
  text,
  extra,
  onClose,
  children,
}: {
  title: string;
  /** Name of the secret, such as `API key`. */
  label: string;
  text: string;
  extra?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Modal opened onClose={onClose} title={title} closeOnClickOutside={false} size={560}>
      <div className="once">
        <p className="text-s quiet mb-12">{children}</p>
        <div className="once-line">
          <code tabIndex={0} aria-label={label}>
            {text}
          </code>
          <Button
            variant="filled"
            data-autofocus
            leftSection={<Icon name="copy" size={15} />}
            onClick={() => void copyText(text, label)}
          >
            {t("Copy")}
          </Button>
        </div>
      </div>
      <div className="form-buttons">
        <div className="form-extra">{extra}</div>
        <Button onClick={onClose}>{t("Done")}</Button>
      </div>
    </Modal>
  );
}

/** Downloads a URL, or a text, as a file with this name. */
export function downloadFile(
  name: string,
  from: { href: string } | { text: string; type: string },
) {
  const link = document.createElement("a");
  link.href =
    "href" in from ? from.href : URL.createObjectURL(new Blob([from.text], { type: from.type }));
  link.download = name;
  link.click();
  if ("text" in from) setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
