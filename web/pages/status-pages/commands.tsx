import { useSignedIn } from "../../data/session.ts";
import { useStatusPages } from "../../data/status-pages.ts";
import { Icon } from "../../components/icons.tsx";
import type { Command } from "../../shell/palette-rules.ts";
import { addressOf } from "./page-words.tsx";

/** What the palette can do with status pages. */
export function useStatusPageCommands(text: string, goTo: (href: string) => void): Command[] {
  const { data: pages = [] } = useStatusPages();
  const { mayWrite } = useSignedIn();
  const commands = pages.flatMap((page): Command[] => {
    const { id, title } = page;
    const edit = {
      key: id,
      label: title,
      hint: "Status page",
      icon: <Icon name="page" />,
      run: () => goTo(`/status-pages/${id}`),
    };
    if (text.length < 3) return [edit];
    const open = {
      key: `open ${id}`,
      label: `Open ${title} in a new tab`,
      icon: <Icon name="external" />,
      run: () => void window.open(addressOf(page), "_blank", "noreferrer"),
    };
    return [edit, open];
  });
  if (!mayWrite) return commands;
  const add: Command = {
    key: "new-page",
    label: "Create status page",
    icon: <Icon name="plus" />,
    run: () => goTo("/status-pages?new="),
    common: true,
  };
  return [add, ...commands];
}
