import { Button, Group, Modal, Text } from "@mantine/core";
import type { Form, Values } from "./use-form.ts";
import { t } from "../../language/text.ts";

/** Asks which version to keep after someone else changed the record of a form. */
export default function ConflictDialog({ settle }: Pick<Form<Values>, "settle">) {
  return (
    <Modal opened onClose={() => settle("theirs")} title={t("Someone else changed this")} centered>
      <Text size="sm" mb="md">
        {t(
          "Someone saved a change after you opened this. Save your version over theirs, or load theirs and lose what you typed.",
        )}
      </Text>
      <Group justify="flex-end" gap={8}>
        <Button onClick={() => settle("theirs")}>{t("Load theirs")}</Button>
        <Button variant="filled" onClick={() => settle("mine")}>
          {t("Save mine")}
        </Button>
      </Group>
    </Modal>
  );
}
