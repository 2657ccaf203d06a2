import { Modal } from "@mantine/core";
import { editing } from "./editing.ts";
import { GroupEditor } from "./group-editor.tsx";
import { MonitorEditor } from "./monitor-editor.tsx";

const titles = {
  "new-monitor": "Create monitor",
  "edit-monitor": "Edit monitor",
  "new-group": "Create group",
  "edit-group": "Edit group",
};

/** The editors of monitors and groups, over whatever page is open; loaded when first needed. */
export default function Editors() {
  const current = editing.use();
  if (current === null) return null;
  const close = () => editing.set(null);
  const isMonitor = current.kind === "new-monitor" || current.kind === "edit-monitor";
  return (
    <Modal
      opened
      onClose={close}
      title={titles[current.kind]}
      size={isMonitor ? 640 : 480}
      closeOnClickOutside={false}
    >
      {isMonitor ? (
        <MonitorEditor what={current} onDone={close} />
      ) : (
        <GroupEditor what={current} onDone={close} />
      )}
    </Modal>
  );
}
