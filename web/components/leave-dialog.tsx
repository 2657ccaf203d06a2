import { Button, Group, Modal, Text } from "@mantine/core";

type Blocker = { status: "blocked" | "idle"; proceed?: unknown; reset?: unknown };

/** Asks before what was typed is lost on the way to another page. */
export function LeaveDialog({ blocker }: { blocker: Blocker }) {
  const call = (act: unknown) => {
    if (typeof act === "function") act();
  };
  const stay = () => call(blocker.reset);
  return (
    <Modal
      opened={blocker.status === "blocked"}
      onClose={stay}
      title="Leave without saving?"
      centered
    >
      <Text size="sm" mb="md">
        Your changes are not saved.
      </Text>
      <Group justify="flex-end" gap={8}>
        <Button onClick={() => call(blocker.proceed)}>Leave</Button>
        <Button variant="filled" onClick={stay} data-autofocus>
          Stay
        </Button>
      </Group>
    </Modal>
  );
}
