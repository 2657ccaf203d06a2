import { Button, Menu } from "@mantine/core";
import type { IncidentStatus } from "../../../src/incidents/schema.ts";
import { Icon } from "../../components/icons.tsx";
import { templates } from "./templates.ts";

/** Ready messages for a status; one that is chosen goes behind what was typed. */
export function TemplatesMenu({
  status,
  message,
  onInsert,
}: {
  status: IncidentStatus;
  message: string;
  onInsert: (message: string) => void;
}) {
  return (
    <Menu position="bottom-end" width={320}>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          rightSection={<Icon name="down" size={12} />}
        >
          Templates
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {templates[status].map(({ name, text }) => (
          <Menu.Item
            key={name}
            onClick={() => onInsert(message.trim() === "" ? text : `${message.trimEnd()}\n${text}`)}
          >
            <b>{name}</b>
            <span className="template-text">{text}</span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
