import { ActionIcon, Button, Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { dataOf } from "../../data/client.ts";
import { deleteWithUndo } from "../../components/deleting.ts";
import { pageRoutes, type StatusPage } from "../../data/status-pages.ts";
import { copy, CurlItem } from "../../components/curl-button.tsx";
import { Icon } from "../../components/icons.tsx";
import { addressOf } from "./page-words.tsx";

export function PageActions({ page, mayWrite }: { page: StatusPage; mayWrite: boolean }) {
  const { id, title } = page;
  const navigate = useNavigate();
  const address = addressOf(page);
  return (
    <>
      <Button
        component="a"
        href={address}
        target="_blank"
        rel="noreferrer"
        rightSection={<Icon name="external" size={14} />}
      >
        Open page
      </Button>
      <Menu position="bottom-end" width={210}>
        <Menu.Target>
          <ActionIcon variant="default" size={34} aria-label="More actions">
            <Icon name="dots" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<Icon name="copy" />}
            onClick={() => void copy(address, "Address")}
          >
            Copy address
          </Menu.Item>
          <CurlItem action={() => ({ method: "GET", route: pageRoutes(id) })} />
          {mayWrite && (
            <>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<Icon name="trash" />}
                disabled={page.default}
                onClick={() => {
                  deleteWithUndo({ id, title }, () => dataOf(pageRoutes(id).delete()));
                  void navigate({ to: "/status-pages" });
                }}
              >
                {page.default ? "The default page cannot be deleted" : "Delete"}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
