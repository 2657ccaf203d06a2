import { Button, Modal } from "@mantine/core";
import { channelKinds, type ChannelType } from "../../../src/alerting/channels/kinds-schema.ts";
import type { AlertChannel } from "../../data/alert-channels.ts";
import { notify } from "../../components/toasts.tsx";
import { testFromList } from "./actions.ts";
import { ChannelEditor } from "./channel-editor.tsx";
import { ChannelGallery } from "./channel-types.tsx";
import { t } from "../../language/text.ts";

type Props = {
  /** Chosen type; `""` shows the gallery first. */
  chosen: string;
  onChoose: (type: ChannelType | "") => void;
  onClose: () => void;
  /** Called with the new channel. Without this callback, a test alert is sent. */
  onCreated?: (channel: AlertChannel) => void;
};

/** Creates a channel: first its type, then its form. */
export default function CreateChannel({ chosen, onChoose, onClose, onCreated }: Props) {
  const type = chosen in channelKinds ? (chosen as ChannelType) : null;
  return (
    <Modal
      opened
      onClose={onClose}
      title={
        type === null
          ? t("Create alert channel")
          : t("Create alert channel: {name}", { name: channelKinds[type].name })
      }
      size={type === null ? 720 : 560}
      closeOnClickOutside={type === null}
    >
      {type === null ? (
        <ChannelGallery onChoose={onChoose} />
      ) : (
        <>
          <Button variant="subtle" size="xs" mb={10} ml={-8} onClick={() => onChoose("")}>
            {t("← All types")}
          </Button>
          <ChannelEditor
            key={type}
            type={type}
            onCancel={onClose}
            submit={onCreated ? t("Create alert channel") : t("Create and send test")}
            onSaved={(channel) => {
              if (onCreated === undefined) {
                onClose();
                return void testFromList(channel);
              }
              notify(t("Created {name}", { name: channel.name }));
              onCreated(channel);
            }}
          />
        </>
      )}
    </Modal>
  );
}
