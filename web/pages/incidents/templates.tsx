import { Button, Menu } from "@mantine/core";
import type { IncidentStatus } from "../../../src/incidents/schema.ts";
import { Icon } from "../../components/icons.tsx";

/** Messages to begin with, by status: what people want to know first. */
const templates: Record<IncidentStatus, readonly { name: string; text: string }[]> = {
  investigating: [
    {
      name: "Looking into it",
      text: "We are looking into it. The next update follows within 30 minutes.",
    },
    {
      name: "Some people affected",
      text: "Some people can't use the service as usual at the moment. We are looking for the cause.",
    },
    {
      name: "Slow",
      text: "The service is slower than usual. We are looking for the cause.",
    },
  ],
  identified: [
    { name: "Cause found", text: "We found the cause and are working on a fix." },
    { name: "Rolling back", text: "A change we made caused this. We are rolling it back." },
    {
      name: "Supplier outage",
      text: "The cause is an outage at one of our suppliers. We are in contact with them and follow their progress.",
    },
  ],
  monitoring: [
    { name: "Fix in place", text: "A fix is in place. We are monitoring the result." },
    {
      name: "Recovering",
      text: "The service is recovering. Some requests may still be slow for a while.",
    },
  ],
  resolved: [
    {
      name: "Back to normal",
      text: "Everything works as usual again. Thank you for your patience.",
    },
    {
      name: "Back to normal, no data lost",
      text: "Everything works as usual again. No data was lost.",
    },
    {
      name: "Review follows",
      text: "Everything works as usual again. We will publish a review of what happened and what we change.",
    },
  ],
};

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
