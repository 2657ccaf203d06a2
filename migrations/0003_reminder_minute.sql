-- Reminders are a minute apart at least.
UPDATE `monitors` SET `reminder_interval_seconds` = 60 WHERE `reminder_interval_seconds` < 60;
