import { ActionIcon, Tooltip } from "@mantine/core";
import { pathOf } from "../data/client.ts";
import { Icon } from "./icons.tsx";
import { notifyError, notify } from "./toasts.tsx";

export type Action = {
  method: string;
  route: { "~path": string };
  query?: Record<string, string>;
  body?: unknown;
};

/** Puts the same action for a script on the clipboard, with its key in `$KEY`. */
export const copyCurl = (action: Action) => void copy(curlOf(action), "curl command");

function curlOf({ method, route, query = {}, body }: Action): string {
  const search = new URLSearchParams(query).toString();
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${location.origin}${pathOf(route)}${search && `?${search}`}`,
    `-H "Authorization: Bearer $KEY"`,
  ];
  if (body !== undefined)
    lines.push(
      `-H "Content-Type: application/json"`,
      `-d '${JSON.stringify(body).replaceAll("'", `'\\''`)}'`,
    );
  return lines.join(" \\\n  ");
}

export async function copy(text: string, what: string) {
  try {
    if (navigator.clipboard === undefined) copyOldWay(text);
    else await navigator.clipboard.writeText(text);
    notify(`${what} copied`);
  } catch (error) {
    notifyError(error);
  }
}

/** Over plain HTTP on the LAN browsers have no clipboard interface. */
function copyOldWay(text: string) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("The browser did not allow copying.");
}

export function CurlButton({ action }: { action: () => Action }) {
  return (
    <Tooltip label="Copy as curl, for a script">
      <ActionIcon aria-label="Copy as curl" size={34} onClick={() => copyCurl(action())}>
        <Icon name="terminal" />
      </ActionIcon>
    </Tooltip>
  );
}
