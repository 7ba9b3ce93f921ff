import { code, date, email, int, listed, money, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const personnel: Schema = {
  name: "personnel",
  about: "employees, departments and managers that refer to each other; a history with a key of two columns",
  tables: {
    REGIONS: { rows: 4, columns: { REGION_ID: serial(), REGION_NAME: listed("Europe", "Americas", "Asia", "Africa") } },
    COUNTRIES: {
      rows: 25,
      columns: { COUNTRY_ID: code("AA"), COUNTRY_NAME: title(), REGION_ID: to("REGIONS.REGION_ID") },
    },
    LOCATIONS: {
      rows: 23,
      columns: {
        LOCATION_ID: serial(1000, 100),
        STREET_ADDRESS: words(3),
        CITY: words(1),
        COUNTRY_ID: to("COUNTRIES.COUNTRY_ID", { type: "TEXT" }),
      },
    },
    JOBS: {
      rows: 19,
      columns: {
        JOB_ID: code("AA_AAA#"),
        JOB_TITLE: title(),
        MIN_SALARY: int(2000, 9000),
        MAX_SALARY: int(9000, 40_000),
      },
    },
    EMPLOYEES: {
      rows: 107,
      columns: {
        EMPLOYEE_ID: serial(100),
        FIRST_NAME: words(1),
        LAST_NAME: words(1),
        EMAIL: email(),
        HIRE_DATE: date(),
        JOB_ID: to("JOBS.JOB_ID", { type: "TEXT" }),
        SALARY: money(),
        MANAGER_ID: to("EMPLOYEES.EMPLOYEE_ID", { nulls: 0.05, skew: true }),
        DEPARTMENT_ID: {
          ...int(1, 27),
          ref: "DEPARTMENTS.DEPARTMENT_ID",
          make: ({ random }) => 10 * (1 + Math.floor(random() * 27)),
        },
      },
    },
    DEPARTMENTS: {
      rows: 27,
      columns: {
        DEPARTMENT_ID: serial(10, 10),
        DEPARTMENT_NAME: title(),
        MANAGER_ID: to("EMPLOYEES.EMPLOYEE_ID", { nulls: 0.5 }),
        LOCATION_ID: to("LOCATIONS.LOCATION_ID"),
      },
    },
    JOB_HISTORY: {
      rows: 40,
      columns: {
        EMPLOYEE_ID: to("EMPLOYEES.EMPLOYEE_ID"),
        START_DATE: date(),
        END_DATE: date(),
        JOB_ID: to("JOBS.JOB_ID", { type: "TEXT" }),
        DEPARTMENT_ID: to("DEPARTMENTS.DEPARTMENT_ID"),
      },
      key: ["EMPLOYEE_ID", "START_DATE"],
    },
  },
};
