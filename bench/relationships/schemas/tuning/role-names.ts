import { email, int, pick, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const roles: Schema = {
  name: "roles",
  about: "several references to one table, self references, created_by, persons under other names",
  tables: {
    Users: {
      rows: 40,
      columns: {
        UserId: serial(),
        FirstName: words(1),
        LastName: words(1),
        Email: email(),
        InvitedBy: to("Users.UserId", { nulls: 0.4 }),
      },
    },
    Addresses: { rows: 130, columns: { AddressId: serial(), Street: words(), City: words(1), Zip: int(1000, 9999) } },
    Clients: {
      rows: 75,
      columns: {
        ClientId: serial(),
        Name: title(),
        AccountManagerId: to("Users.UserId", { only: [2, 7] }),
        ParentClientId: to("Clients.ClientId", { nulls: 0.7 }),
      },
    },
    Deals: {
      rows: 260,
      columns: {
        DealId: serial(),
        ClientId: to("Clients.ClientId"),
        BillingAddressId: to("Addresses.AddressId"),
        ShippingAddressId: to("Addresses.AddressId", { nulls: 0.3 }),
        CreatedBy: to("Users.UserId"),
        ApprovedBy: to("Users.UserId", { nulls: 0.5 }),
        Priority: int(1, 5),
        Probability: int(1, 100),
        Stage: pick("new", "won", "lost"),
      },
    },
    Teams: { rows: 10, columns: { TeamId: serial(), TeamName: title(), Captain: to("Users.UserId") } },
    Matches: {
      rows: 60,
      columns: {
        MatchId: serial(),
        HomeTeamId: to("Teams.TeamId"),
        AwayTeamId: to("Teams.TeamId"),
        HomeScore: int(0, 9),
        AwayScore: int(0, 9),
        Season: year(),
      },
    },
    Folders: {
      rows: 55,
      columns: {
        FolderId: serial(),
        Title: title(),
        ParentId: to("Folders.FolderId", { nulls: 0.15 }),
        OwnerId: to("Users.UserId"),
        SortOrder: int(1, 20),
      },
    },
  },
};
