import { Button, Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { channelKinds, type ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import { notify } from "../../components/toasts.tsx";
import { ChannelEditor } from "./channel-editor.tsx";
import { ChannelGallery } from "./channel-types.tsx";

/** `""` chooses a type first. */
type Props = { chosen: string; onChoose: (type: ChannelType | "") => void; onClose: () => void };

/** A new channel: its type from the gallery, then its form; both have an address. */
export default function CreateChannel({ chosen, onChoose, onClose }: Props) {
  const navigate = useNavigate();
  const type = chosen in channelKinds ? (chosen as ChannelType) : null;
  return (
    <Modal
      opened
      onClose={onClose}
      title={
        type === null ? "Create alert channel" : `Create alert channel: ${channelKinds[type].name}`
      }
      size={type === null ? 720 : 560}
      closeOnClickOutside={type === null}
    >
      {type === null ? (
        <ChannelGallery onChoose={onChoose} />
      ) : (
        <>
          <Button variant="subtle" size="xs" mb={10} ml={-8} onClick={() => onChoose("")}>
            ← All types
          </Button>
          <ChannelEditor
            key={type}
            type={type}
            onCancel={onClose}
            onSaved={({ id, name }) => {
              notify(`Created ${name}`);
              void navigate({ to: "/alert-channels/$id", params: { id } });
            }}
          />
        </>
      )}
    </Modal>
  );
}
