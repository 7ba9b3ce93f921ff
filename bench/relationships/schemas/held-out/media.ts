import { code, copied, date, email, int, pick, serial, title, to, uuid } from "../column.ts";
import type { Schema } from "../schema.ts";

export const media: Schema = {
  name: "media",
  about: "UUIDs, slugs, e-mail addresses, a polymorphic log, copies of values",
  tables: {
    app_user: {
      rows: 60,
      columns: { uid: uuid("u"), email: email(), referrer: to("app_user.uid", { nulls: 0.6, type: "TEXT" }) },
    },
    app_channel: {
      rows: 25,
      columns: { slug: code("aa-AAAA"), owner: to("app_user.uid", { type: "TEXT" }), subscribers: int(0, 9000) },
    },
    app_video: {
      rows: 180,
      columns: {
        uid: uuid("v"),
        channel_slug: to("app_channel.slug", { type: "TEXT" }),
        uploader_email: to("app_user.email", { type: "TEXT" }),
        seconds: int(10, 900),
      },
    },
    app_playlist: {
      rows: 40,
      columns: { uid: uuid("p"), curator_uid: to("app_user.uid", { type: "TEXT" }), title: title() },
    },
    app_playlist_video: {
      rows: 400,
      columns: {
        playlist_uid: to("app_playlist.uid", { type: "TEXT" }),
        video_uid: to("app_video.uid", { type: "TEXT" }),
        position: int(1, 40),
      },
      key: ["playlist_uid", "video_uid"],
    },
    app_log: {
      rows: 300,
      columns: {
        id: serial(),
        subject_kind: pick("video", "playlist"),
        subject_uid: {
          type: "TEXT",
          make: ({ line, random, rowsOf }) => {
            const rows = rowsOf(`app_${String(line["subject_kind"])}`);
            return rows[Math.floor(random() * rows.length)]!["uid"]!;
          },
        },
        actor_uid: to("app_user.uid", { type: "TEXT" }),
        actor_email: copied("app_user.uid", "email", "actor_uid"),
        at: date(),
      },
    },
  },
  undeclarable: [
    { from: "app_log", column: "subject_uid", to: "app_video", toColumn: "uid" },
    { from: "app_log", column: "subject_uid", to: "app_playlist", toColumn: "uid" },
  ],
};
