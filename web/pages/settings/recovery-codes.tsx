import { Button, Modal } from "@mantine/core";
import { useSignedIn } from "../../data/session.ts";
import { copy } from "../../components/curl-button.tsx";
import { Icon } from "../../components/icons.tsx";

/** Ten codes that are shown this once. */
export function RecoveryCodes({
  codes,
  onClose,
}: {
  codes: readonly string[];
  onClose: () => void;
}) {
  const { person } = useSignedIn();
  const text = `${codes.join("\n")}\n`;
  return (
    <Modal
      opened
      onClose={onClose}
      title="Your recovery codes"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <p className="quiet dialog-words">
        Each code works once, in place of a code from your phone. They are shown only once: keep
        them where you can reach them without your phone.
      </p>
      <ol className="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className="form-buttons">
        <div className="form-extra">
          <Button
            leftSection={<Icon name="copy" size={15} />}
            onClick={() => void copy(text, "Recovery codes")}
          >
            Copy
          </Button>
          <Button
            leftSection={<Icon name="download" size={15} />}
            onClick={() => download(`Signalbox, ${person.email}\n\n${text}`)}
          >
            Download
          </Button>
        </div>
        <Button variant="filled" onClick={onClose}>
          I have saved them
        </Button>
      </div>
    </Modal>
  );
}

function download(text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = "signalbox-recovery-codes.txt";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}
