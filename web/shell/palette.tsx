import { Modal } from "@mantine/core";
import { lazy, Suspense, useEffect, useState } from "react";
import { createChunk, loadWhenIdle } from "../data/chunks.ts";
import { palette } from "../components/open-dialog.ts";
import { Finder } from "./finder.tsx";
import { t } from "../language/text.ts";

const loadCommands = createChunk(() => import("./commands.tsx"));
const CommandFinder = lazy(loadCommands);

/** The command palette: finds pages, records and actions by typing. */
export function Palette({ onHelp }: { onHelp: () => void }) {
  const opened = palette.use();
  // Before the other parts of the script, because keys open the palette at any time, but after the first screen.
  useEffect(() => loadWhenIdle([loadCommands], 1_000), []);
  return (
    <Modal
      opened={opened}
      onClose={() => palette.set(false)}
      withCloseButton={false}
      padding={0}
      size={600}
      yOffset="12vh"
      transitionProps={{ duration: 0 }}
      attributes={{ content: { "aria-label": t("Search and commands") } }}
    >
      {opened && <Search onHelp={onHelp} />}
    </Modal>
  );
}

/** The search field accepts text while the commands are loading. */
function Search({ onHelp }: { onHelp: () => void }) {
  const [text, setText] = useState("");
  const field = { text, onText: setText };
  return (
    <Suspense fallback={<Finder {...field} found={null} />}>
      <CommandFinder {...field} onHelp={onHelp} />
    </Suspense>
  );
}
