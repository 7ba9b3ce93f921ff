import { code, date, email, int, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const blog: Schema = {
  name: "blog",
  about: "a prefix before every table, keys named in three ways, 0 for none",
  tables: {
    wp_users: {
      rows: 30,
      columns: { ID: serial(), user_login: code("aaa###"), user_email: email(), user_status: int(0, 1) },
    },
    wp_usermeta: {
      rows: 200,
      columns: {
        umeta_id: serial(),
        user_id: to("wp_users.ID"),
        meta_key: pick("nickname", "locale"),
        meta_value: words(),
      },
    },
    wp_posts: {
      rows: 260,
      columns: {
        ID: serial(),
        post_author: to("wp_users.ID"),
        post_date: date(),
        post_title: words(4),
        post_status: pick("publish", "draft"),
        post_parent: to("wp_posts.ID", { nulls: 0.7, none: 0 }),
        menu_order: int(0, 10),
        comment_count: int(0, 30),
      },
    },
    wp_postmeta: {
      rows: 500,
      columns: {
        meta_id: serial(),
        post_id: to("wp_posts.ID"),
        meta_key: pick("_edit_lock", "_thumb"),
        meta_value: words(1),
      },
    },
    wp_comments: {
      rows: 400,
      columns: {
        comment_ID: serial(),
        comment_post_ID: to("wp_posts.ID"),
        comment_author: words(),
        comment_content: words(9),
        comment_parent: to("wp_comments.comment_ID", { nulls: 0.8, none: 0 }),
        user_id: to("wp_users.ID", { nulls: 0.5, none: 0 }),
      },
    },
    wp_commentmeta: {
      rows: 90,
      columns: {
        meta_id: serial(),
        comment_id: to("wp_comments.comment_ID"),
        meta_key: pick("a", "b"),
        meta_value: words(1),
      },
    },
    wp_terms: { rows: 45, columns: { term_id: serial(), name: title(), slug: code("aaa-##"), term_group: int(0, 1) } },
    wp_term_taxonomy: {
      rows: 45,
      columns: {
        term_taxonomy_id: serial(),
        term_id: to("wp_terms.term_id"),
        taxonomy: pick("category", "post_tag"),
        parent: int(0, 0),
        count: int(0, 44),
      },
    },
    wp_term_relationships: {
      rows: 420,
      columns: {
        object_id: to("wp_posts.ID"),
        term_taxonomy_id: to("wp_term_taxonomy.term_taxonomy_id"),
        term_order: int(0, 1),
      },
      key: ["object_id", "term_taxonomy_id"],
    },
  },
};
