import { Modal } from "@mantine/core";
import { lazy, Suspense } from "react";
import { createChunk } from "../data/chunks.ts";
import { t } from "../language/text.ts";

const ShortcutList = lazy(
  createChunk(async () => ({ default: (await import("./shortcut-list.tsx")).ShortcutList })),
);

/** The dialog that lists all shortcuts. It returns the focus when it closes. */
export const ShortcutSheet = ({ opened, onClose }: { opened: boolean; onClose: () => void }) => (
  <Modal opened={opened} onClose={onClose} title={t("Shortcuts")} size="lg">
    <Suspense>
      <ShortcutList onClose={onClose} />
    </Suspense>
  </Modal>
);
