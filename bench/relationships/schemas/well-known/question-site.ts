import { date, int, listed, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const questions: Schema = {
  name: "questions",
  about: "posts that answer posts, several users in one row, types without tables",
  tables: {
    Users: {
      rows: 140,
      columns: {
        Id: serial(),
        DisplayName: words(),
        Reputation: int(1, 9000),
        Age: int(13, 90),
        Views: int(0, 500),
        UpVotes: int(0, 140),
      },
    },
    Posts: {
      rows: 600,
      columns: {
        Id: serial(),
        PostTypeId: to("PostTypes.Id"),
        ParentId: to("Posts.Id", { nulls: 0.5 }),
        AcceptedAnswerId: to("Posts.Id", { nulls: 0.8 }),
        OwnerUserId: to("Users.Id"),
        LastEditorUserId: to("Users.Id", { nulls: 0.6 }),
        Score: int(-5, 80),
        ViewCount: int(0, 600),
        AnswerCount: int(0, 9),
        Title: words(5),
      },
    },
    PostTypes: { rows: 8, columns: { Id: serial(), Type: title() } },
    Comments: {
      rows: 900,
      columns: { Id: serial(), PostId: to("Posts.Id"), Score: int(0, 30), Text: words(8), UserId: to("Users.Id") },
    },
    Badges: {
      rows: 300,
      columns: { Id: serial(), Name: pick("Teacher", "Student", "Editor"), UserId: to("Users.Id"), Date: date() },
    },
    VoteTypes: { rows: 15, columns: { Id: serial(), Name: title() } },
    Votes: {
      rows: 1500,
      columns: {
        Id: serial(),
        PostId: to("Posts.Id"),
        UserId: to("Users.Id", { nulls: 0.7 }),
        BountyAmount: int(50, 500),
        VoteTypeId: to("VoteTypes.Id"),
        CreationDate: date(),
      },
    },
    LinkTypes: { rows: 2, columns: { Id: serial(1, 2), Type: listed("Linked", "Duplicate") } },
    PostLinks: {
      rows: 80,
      columns: { Id: serial(), PostId: to("Posts.Id"), RelatedPostId: to("Posts.Id"), LinkTypeId: to("LinkTypes.Id") },
    },
  },
};
